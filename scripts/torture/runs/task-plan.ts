import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { PlannedCall } from './planned-model.ts'

/** The calls for each message of the form `do <task>`: several kinds of calls, all with the task as their label. */
export function planOf(prompt: LanguageModelV4Prompt): PlannedCall[][] {
  return prompt.flatMap((message) => {
    if (message.role !== 'user') return []
    return message.content.flatMap((part) => {
      const [, task] = (part.type === 'text' && /^do (\S+)$/.exec(part.text)) || []
      return task ? [callsOf(task)] : []
    })
  })
}

function callsOf(label: string): PlannedCall[] {
  const list = [1, 2, 3]
  const kinds: PlannedCall[][] = [
    [{ name: 'add', arguments: { label, value: 1 } }],
    [{ name: 'put', arguments: { label, _each: list, value: '†item' } }],
    [
      { name: 'ship', arguments: { label } },
      { name: 'add', arguments: { label, value: 2 } },
    ],
    [
      { name: 'put', arguments: { label, value: 3, _outputPath: `†state["${label}"]` } },
      { name: 'add', arguments: { label, value: `†state["${label}"]` } },
    ],
  ]
  const sum = [...label].reduce((total, letter) => total + letter.charCodeAt(0), 0)
  return kinds[sum % kinds.length] ?? []
}
