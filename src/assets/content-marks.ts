/** The key of objects in encoded content that stand for what JSON cannot carry. */
export const MARK = '$byref'

/** What such an object stands for. A `record` is a plain object that has the key itself. */
export type Mark =
  | ({ [MARK]: 'bytes' } & ContentLeaf)
  | { [MARK]: 'live'; index: number }
  | { [MARK]: 'record'; value: Record<string, unknown> }
  | { [MARK]: 'map'; value: [unknown, unknown][] }
  | { [MARK]: 'set'; value: unknown[] }
  | { [MARK]: 'date'; value: string | null }
  | { [MARK]: 'url' | 'number' | 'bigint'; value: string }

/** A leaf whose bytes lie in a body of its own. */
export interface ContentLeaf {
  digest: string
  /** In bytes. */
  size: number
  /** What the bytes were: `Uint8Array`, `Float32Array`, `ArrayBuffer`, `Blob` … */
  as: string
  mime?: string
}

/** Every kind of typed array, by its name. Node 22 has no `Float16Array`. */
export const TYPED_ARRAYS: Readonly<
  Record<string, new (buffer: ArrayBuffer) => ArrayBufferView<ArrayBuffer>>
> = {
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  BigUint64Array,
  BigInt64Array,
  Float32Array,
  Float64Array,
  ...(typeof Float16Array === 'function' && { Float16Array }),
}

/** The mark that a value is, or null. */
export function markOf(value: unknown): Mark | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return Object.hasOwn(value, MARK) ? (value as Mark) : null
}
