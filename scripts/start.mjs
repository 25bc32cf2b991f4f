// `npm start`: sets up what is missing, then runs `byref serve` with the arguments given.
import { launch } from './launch.mjs'
import { ensureInstalled, ensureWebBuilt } from './setup.mjs'

ensureInstalled()
ensureWebBuilt()
launch(['serve', ...process.argv.slice(2)])
