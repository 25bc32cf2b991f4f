export { type AgUiOptions, createAgUiHandler } from './handler.ts'
