export { type ByReference, type ByReferenceOptions, byReference } from './by-reference.ts'
export type { ReadingTools } from './reading-tools.ts'
