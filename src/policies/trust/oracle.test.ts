import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { createRandom, type Random } from '../../agent/fixtures/random.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { isSameLabel } from '../../core/labels/fixtures/same-label.ts'
import { join, joinAll, type Label, readLabel, TRUSTED } from '../../core/labels/label.ts'
import { wholeOf } from '../../core/labels/label-tree.ts'
import { createLabels } from '../../core/labels/labels.ts'
import { readAll } from '../../log/conversation-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const RUNS = Number(process.env.BYREF_TRUST_RUNS ?? 25)

/** The declarations of each tool. */
const OWN: Record<string, object> = {
  plain: {},
  dirty: { integrity: 'untrusted' },
  ann_bob: { readers: ['ann', 'bob'] },
  bob_cy: { integrity: 'untrusted', readers: ['bob', 'cy'] },
  inside: { confidentiality: 'private' },
}

const tools = Object.entries(OWN).map(([id, returns]) =>
  defineTool({
    id,
    description: id,
    inputSchema: { type: 'object', properties: { a: {}, b: {} } },
    readOnly: true,
    openWorld: false, // accepts anything, so that no call waits for a person
    returns,
    execute: () => ({ x: { y: 1 }, z: 'text' }),
  }),
) as Tool[]

const PLACES = ['s', 's.x', 's.x.y', 's.z', 't', 't.x'] as const

/** A call of the script, in a form that the oracle can read without the engine. */
interface Step {
  tool: string
  reads: { result?: number; place?: string }[]
  write: string | null
}

function scriptOf(random: Random): Step[] {
  return Array.from({ length: 3 + random.below(8) }, (_, i) => ({
    tool: random.pick(Object.keys(OWN)),
    reads: Array.from({ length: random.below(3) }, () =>
      i > 0 && random.chance(0.5)
        ? { result: 1 + random.below(i) }
        : { place: random.pick(PLACES) },
    ),
    write: random.chance(0.7) ? random.pick(PLACES) : null,
  }))
}

/** Returns the label of every result by following its sources one by one, in the simplest way. */
function oracle(
  script: readonly Step[],
  shows: boolean,
  failed: (i: number) => Label | null,
): Label[] {
  const results: Label[] = []
  const writes: { place: string; label: Label }[] = []
  let context = TRUSTED
  for (const [i, { tool, reads, write }] of script.entries()) {
    const given = reads.map(({ result, place }) =>
      result === undefined ? placeLabel(writes, place ?? '') : (results[result - 1] as Label),
    )
    const failure = failed(i)
    const own = failure ? TRUSTED : readLabel(OWN[tool])
    const known = joinAll([own, context, ...given])
    // An error may reveal the keys of the value in which the path was looked up, and of no other.
    const roots = reads.flatMap(({ place }) => (place ? placeLabel(writes, place[0] ?? '') : []))
    const isBetween =
      failure && covers(failure, known) && covers(join(known, joinAll(roots)), failure)
    const label = isBetween ? failure : known
    results.push(label)
    // The outcome of a failed call is not written.
    if (write !== null && !failed(i)) writes.push({ place: write, label })
    if (shows || label.integrity === 'trusted') context = join(context, label)
  }
  return results
}

/** Whether one label is at least as strict as another. */
function covers(label: Label, other: Label): boolean {
  return isSameLabel(join(label, other), label)
}

/** The last write to a place, later writes inside it, and the values around it. */
function placeLabel(writes: readonly { place: string; label: Label }[], place: string): Label {
  const found: Label[] = []
  const covered: string[] = []
  const isIn = (a: string, b: string): boolean => a === b || a.startsWith(`${b}.`)
  for (const write of writes.toReversed()) {
    if (!isIn(place, write.place) && !isIn(write.place, place)) continue
    if (covered.some((one) => isIn(write.place, one))) continue
    found.push(write.label)
    covered.push(write.place)
    if (isIn(place, write.place)) break
  }
  return joinAll(found)
}

describe('every label', () => {
  it.each(['track', 'quarantine'] as const)(
    'in %s is the label that its sources determine',
    async (trust) => {
      const seen = new Set<string>()
      for (let seed = 1; seed <= RUNS; seed++) {
        const script = scriptOf(createRandom(seed))
        const calls = script.map(({ tool, reads, write }, i) => {
          const [a, b] = reads.map(({ result, place }) =>
            result === undefined ? `†${place}` : `†result#${result}`,
          )
          const path = write === null ? {} : { _outputPath: `†${write}` }
          return { calls: [{ id: `c${i}`, name: tool, arguments: { a, b, ...path } }] }
        })
        const agent = createAgent({ model: scriptedModel([...calls, 'Done.']), trust, tools })
        const run = agent.run({ messages: say('Go') })
        await run.result
        const labels = createLabels()
        const failures = new Set<number>()
        for await (const record of readAll(agent.log, run.conversation)) {
          labels.apply(record)
          const failure = failureOf(record.event)
          if (failure !== null) failures.add(failure)
        }
        const wanted = oracle(script, trust === 'track', (i) =>
          failures.has(i) ? wholeOf(labels.result(i + 1) ?? { label: TRUSTED }) : null,
        )
        for (const [i, label] of wanted.entries()) {
          const found = labels.variable({
            type: 'variable',
            kind: 'result',
            instance: String(i + 1),
            path: [],
          })
          const about = JSON.stringify({ seed, i, script: script.slice(0, i + 1), found, label })
          expect(isSameLabel(found, label), about).toBe(true)
          seen.add(`${found.integrity} ${found.confidentiality} ${found.readers}`)
        }
      }
      expect(seen.size).toBeGreaterThan(6)
    },
  )
})

/** The index of the call that failed with this event, because its source does not exist. */
function failureOf(event: ConversationEvent): number | null {
  if (event.type !== 'NEW_MESSAGE') return null
  const mark = event.payload.metadata.tool_result
  return mark?.error ? Number(mark.tool_call_id.slice(1)) : null
}
