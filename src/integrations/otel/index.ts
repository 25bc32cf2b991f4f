export { createTracedAgent, type TracingOptions } from './traced-agent.ts'
