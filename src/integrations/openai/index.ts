export { createResponsesHandler, type ResponsesOptions } from './handler.ts'
