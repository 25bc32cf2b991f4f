// A process that dies during a call: node bench/agent/die-in-call.ts <file> <conversation>, started by resume.ts
import { createAgent, defineTool } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { instantModel } from './contestants/instant-model.ts'

const [file = '', conversation = ''] = process.argv.slice(2)
const add = defineTool({
  id: 'add',
  description: 'Never returns',
  inputSchema: { type: 'object', properties: {} },
  execute() {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  },
})
const agent = createAgent({ model: instantModel(1), tools: [add], log: createSqliteLog(file) })
await agent.run({ conversation, messages: [{ role: 'user', content: 'go' }] }).result
