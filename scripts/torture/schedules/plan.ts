import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createRandom, type Random } from '../../../src/agent/fixtures/random.ts'
import type { PlannedCall } from '../runs/planned-model.ts'

/**
 * Returns the answers with calls that a seed determines for each message of the form `do <task>`, in the order of the
 * messages.
 */
export function plannedBy(seed: number): (prompt: LanguageModelV4Prompt) => PlannedCall[][] {
  return (prompt) =>
    prompt.flatMap((message) => {
      if (message.role !== 'user') return []
      return message.content.flatMap((part) => {
        const [, task] = (part.type === 'text' && /^do (\S+)$/.exec(part.text)) || []
        return task ? answersFor(task, createRandom(seed ^ hashOf(task))) : []
      })
    })
}

function answersFor(task: string, random: Random): PlannedCall[][] {
  return Array.from({ length: 1 + random.below(3) }, (_, i) => callsFor(`${task}#${i}`, random))
}

/** One to four calls, which may depend on each other. */
function callsFor(label: string, random: Random): PlannedCall[] {
  const path = `†state["${label}"]`
  return Array.from({ length: 1 + random.below(4) }, (_, i): PlannedCall => {
    const own = { label: `${label}.${i}` }
    const kind = random.below(10)
    if (kind === 0) return { name: 'ship', arguments: own }
    if (kind === 1) return { name: 'photo', arguments: own }
    if (kind === 2) return { name: 'report', arguments: own }
    if (kind === 3) return { name: 'fail', arguments: own }
    if (kind === 4) {
      return { name: 'put', arguments: { ...own, value: '†item', _each: [1, 2, 3] } }
    }
    if (kind === 5) return { name: 'put', arguments: { ...own, value: i, _outputPath: path } }
    if (kind === 6) return { name: 'add', arguments: { ...own, value: path } }
    if (kind === 7) return { name: 'report', arguments: { ...own, _outputPath: path } }
    return { name: 'add', arguments: { ...own, value: i } }
  })
}

function hashOf(text: string): number {
  return [...text].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7)
}
