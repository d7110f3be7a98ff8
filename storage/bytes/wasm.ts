// Small WebAssembly modules of our own, kept as text in the files that use them.

/** What is used of the WebAssembly interface, which Node has and its type package does not describe. */
interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

/** Makes instances of a module, given in base64, with a memory each; it is compiled when the first one is asked for. */
export function wasmModule<Exports extends { memory: { buffer: ArrayBuffer } }>(base64: string): () => Exports {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly
  let module: object | undefined
  return () => {
    module ??= new Module(Buffer.from(base64, 'base64'))
    return new Instance(module).exports as Exports
  }
}
