import { useConversation } from '../app/conversation-context.tsx'
import { AssetImage } from './asset-image.tsx'
import { readVariable } from './board.ts'
import { isAsset } from './kinds.ts'
import { EmbeddedVariable } from './variable-chip.tsx'

/** Renders the image that a variable names by its value. A variable with any other value is shown as in text. */
export function VariableImage({ reference, alt }: { reference: string; alt: string }) {
  const value = useConversation(({ messages }) => {
    const found = readVariable(messages, reference)
    return found && 'value' in found ? found.value : null
  })
  if (isAsset(value)) return <AssetImage reference={value} alt={alt} />
  return <EmbeddedVariable reference={reference} />
}
