export {
  type Boundary,
  type BoundaryCall,
  type BoundaryOptions,
  createBoundary,
} from './boundary.ts'
export type { Codec } from './describe-tool.ts'
export type { NativeToolName } from './native-tools.ts'
export type { Read, ResolvedCall } from './resolve.ts'
export type { StoredResult, StoringCall } from './store.ts'
export { createResultSource, type Found, type ValueSource } from './value-source.ts'
