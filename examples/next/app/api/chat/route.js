import { convertToModelMessages, stepCountIs, streamText } from 'ai'
import { model, refs, tools } from '../../byref.js'

export async function POST(request) {
  const { messages } = await request.json()
  const result = streamText({
    model: refs.model(model),
    tools,
    messages: await convertToModelMessages(messages, { tools }),
    stopWhen: stepCountIs(5),
  })
  return result.toUIMessageStreamResponse({
    messageMetadata: ({ part }) => (part.type === 'finish' ? { prompt: promptSize() } : undefined),
  })
}

/** Characters of the last prompt: the picture is not among them. */
function promptSize() {
  return JSON.stringify(model.requests.at(-1)?.prompt).length
}
