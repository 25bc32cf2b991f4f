import { run } from './program.mjs'

console.log(JSON.stringify(await run()))
