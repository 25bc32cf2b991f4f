export { type ByReference, type ByReferenceOptions, byReference } from './by-reference.ts'
