// What of noVNC is used here.

declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { shared?: boolean })
    scaleViewport: boolean
    viewOnly: boolean
    background: string
    focus(): void
    blur(): void
    disconnect(): void
  }
}
