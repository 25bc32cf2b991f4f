import type { Task, Way } from '../play.ts'
import { prose } from '../words.ts'

const TURNS = 30
const lines = prose(20_000, 9)
const way: Way = {
  tools: [],
  instructions: 'You are a patient teacher. Answer in a few sentences.',
  says: Array.from({ length: TURNS }, (_, i) => ({
    role: 'user',
    content: `Question ${i + 1}: ${lines[i]}`,
  })),
  answers: Array.from({ length: TURNS }, (_, i) => lines.slice(40 + i * 3, 43 + i * 3).join(' ')),
}

/** Text only. References save nothing. */
export const longChat: Task = {
  name: 'long chat',
  about: '30 turns of words alone',
  byref: () => way,
  value: () => way,
}
