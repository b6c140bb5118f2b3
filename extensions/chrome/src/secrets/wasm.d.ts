// What the build puts in: the node's redactor, as WebAssembly.

declare module 'redactor.wasm' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
