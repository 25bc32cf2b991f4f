// `npm start`: sets up what is missing, then runs `byref serve` with the same arguments.
import { launch } from './launch.mjs'
import { ensureInstalled, ensureWebBuilt } from './setup.mjs'

ensureInstalled()
ensureWebBuilt()
launch(['serve', ...process.argv.slice(2)])
