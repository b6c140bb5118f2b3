// What the build puts in: the node's redactor, as WebAssembly.

declare module 'redactor.wasm' {
  const base64: string
  export default base64
}
