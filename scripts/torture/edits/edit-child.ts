// node edit-child.ts <folder> <files or table> <point>: edits documents, and kills itself at the point with this
// number.
import { createLife } from '../runs/life.ts'
import { DOCUMENTS, openEditWorld, playEdits } from './edit-world.ts'

const [folder = '', kind = '', point = ''] = process.argv.slice(2)
const documents = DOCUMENTS[kind as keyof typeof DOCUMENTS]
const life = createLife(Number(point), () => process.kill(process.pid, 'SIGKILL'))
await playEdits(openEditWorld(folder, documents, life))
process.exit()
