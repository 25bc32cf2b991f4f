import type { PromptInfo } from 'byref/client'
import { useMemo } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Section } from '../section.tsx'
import { PromptMessages } from './prompt-messages.tsx'
import { PromptSizes } from './prompt-sizes.tsx'
import { PromptTools } from './prompt-tools.tsx'
import { readPrompt } from './read-prompt.ts'
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
      <PromptTools prompt={prompt} messageId={info.messageId} deferred={info.deferred} />
    </div>
  )
}
