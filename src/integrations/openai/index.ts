export { createResponsesHandler, type ResponsesOptions } from './responses-handler.ts'
