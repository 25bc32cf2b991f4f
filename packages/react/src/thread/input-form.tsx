import type { DataBlock, Message } from 'byref/client'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { newMessageId } from '../composer/use-send.ts'
import { readVariable } from '../references/board.ts'
import { readBlock } from '../references/data-block.ts'
import { asSchema, fieldsOf } from '../schema/schema-fields.ts'
import { formatCount } from '../ui/format.ts'
import { lazyPart } from '../ui/lazy-part.tsx'

const SchemaForm = lazyPart(async () => (await import('../schema/schema-form.tsx')).SchemaForm)

/** Returns whether a message asks a person for input: it is an input message with the schema of an object. */
export function isForm(message: Message): boolean {
  const { kind, schema } = readBlock(message)
  return message.content_type === 'data' && kind === 'input' && fieldsOf(schema) !== null
}

/** Renders the form of an input message's schema. Submitting it sends an input message, which starts a run. */
export function InputForm({ message }: { message: Message }) {
  const { client } = useServer()
  const conversation = useConversationId()
  const mayWrite = useMay('member')
  const messages = useConversation((state) => state.messages)
  const { schema, output, _instance, description } = readBlock(message) as Partial<DataBlock>
  const fields = fieldsOf(schema)
  if (!fields || !mayWrite || conversation === null) return null
  const found = readVariable(messages, _instance === undefined ? '†input' : `†input#${_instance}`)
  const forms = messages.filter(isForm)
  const number = forms.findIndex(({ id }) => id === message.id) + 1
  return (
    <div className="space-y-1.5">
      {description && <p className="text-sm text-ink-2">{description}</p>}
      <SchemaForm
        // Screen readers list the forms of a page by their names.
        label={
          forms.length > 1
            ? `Input (${formatCount(number)} of ${formatCount(forms.length)})`
            : 'Input'
        }
        fields={fields}
        values={'value' in found ? asSchema(found.value) : {}}
        onSubmit={async (input) => {
          const answer = { type: 'input', input, schema, output, _instance } as const
          await client.send(conversation, { id: newMessageId(), ...answer }, { ifBusy: 'queue' })
        }}
      />
    </div>
  )
}
