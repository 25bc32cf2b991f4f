import { useConversation } from '../app/conversation-context.tsx'
import { readVariable } from './board.ts'

/** Renders the current value of a variable in a hover card. */
export function VariableCard({ reference }: { reference: string }) {
  const messages = useConversation((state) => state.messages)
  const found = readVariable(messages, reference)
  return (
    <div className="space-y-1.5">
      <p className="font-mono text-xs font-medium text-variable">{reference}</p>
      {'problem' in found ? (
        <p className="text-xs text-bad">{found.problem}</p>
      ) : (
        <pre className="max-h-56 overflow-auto rounded bg-sunken p-2 font-mono text-2xs whitespace-pre-wrap">
          {(JSON.stringify(found.value, null, 2) ?? 'undefined').slice(0, 2_000)}
        </pre>
      )}
      <p className="text-2xs text-ink-3">The value now; click to see how it came about.</p>
    </div>
  )
}
