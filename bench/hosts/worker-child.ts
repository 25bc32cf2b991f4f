// node worker-child.ts <contestant> <connection string> <concurrency>: one process of a contestant, until it is killed.
import { contestants } from './contestants/all.ts'

const [name = '', connectionString = '', concurrency = '25'] = process.argv.slice(2)
const contestant = contestants[name]
if (!contestant) throw new Error(`There is no contestant ${name}`)
await contestant.work(connectionString, Number(concurrency))
process.send?.('begun')
process.on('disconnect', () => process.exit())
