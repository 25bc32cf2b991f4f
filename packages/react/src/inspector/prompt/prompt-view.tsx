import type { PromptInfo } from 'byref/client'
import { useMemo } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { JsonTree } from '../../json/json-tree.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatBytes } from '../../ui/format.ts'
import { Section } from '../section.tsx'
import { PromptMessages } from './prompt-messages.tsx'
import { PromptSizes } from './prompt-sizes.tsx'
import { type ReadPrompt, readPrompt } from './read-prompt.ts'
import { savingsOf } from './savings.ts'

/** Renders a prompt, message by message, with the sizes of its parts and its differences from another prompt. */
export function PromptView({ info }: { info: PromptInfo }) {
  const assets = useConversation((state) => state.assets)
  const assetsAfter = useConversation((state) => state.assetsAfter)
  const messages = useConversation((state) => state.messages)
  const prompt = useMemo(() => readPrompt(info), [info])
  const sizes = { promptBytes: prompt.total, mediaBytes: prompt.sizes.media }
  const savings = savingsOf({ assets, assetsAfter, messages }, info.messageId, sizes)
  return (
    <div className="space-y-4">
      <PromptSizes prompt={prompt} savings={savings} />
      <Section
        title="Messages"
        aside={
          <CopyButton
            label="Copy prompt"
            text={() => JSON.stringify(info.prompt, null, 2)}
            className="size-6 [&_svg]:size-3.5"
          />
        }
      >
        <PromptMessages messages={prompt.messages} difference={info.difference} />
      </Section>
      {prompt.tools.length > 0 && <Tools tools={prompt.tools} />}
    </div>
  )
}

function Tools({ tools }: Pick<ReadPrompt, 'tools'>) {
  return (
    <Section title="Tools">
      <ul className="space-y-1.5">
        {tools.map(({ name, description, value, bytes }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes, and tools may lack a name
          <li key={index}>
            <details className="rounded-lg border border-line text-xs">
              <summary className="flex items-baseline gap-2 px-2.5 py-1.5">
                <span className="font-mono font-medium">{name}</span>
                <span className="min-w-0 flex-1 truncate text-ink-3">{description}</span>
                <span className="text-2xs text-ink-3 tabular-nums">{formatBytes(bytes)}</span>
              </summary>
              <JsonTree value={value} label={name} className="border-t border-line px-2 py-1.5" />
            </details>
          </li>
        ))}
      </ul>
    </Section>
  )
}
