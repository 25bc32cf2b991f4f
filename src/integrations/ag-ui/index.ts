export { type AgUiOptions, createAgUiHandler } from './ag-ui-handler.ts'
