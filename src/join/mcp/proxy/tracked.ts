import type { Tool } from '../../../agent/tools/tool.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { isPlainObject } from '../../../content/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../content/label.ts'
import { stricterByMeta } from '../label-meta.ts'
import type { RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler } from '../rpc/relay.ts'
import { createPersonAsker, type PersonAsker } from './ask-person.ts'
import { createFlowGuard, type FlowGuard } from './flow-guard.ts'

/** What a client that is shown everything has been shown. */
export interface Tracked {
  guard: FlowGuard
  asker: PersonAsker
  /** Notes that an answer is shown; gives its label, and where it is kept under that. */
  result(answer: RpcMessage, of?: TrackedCall): { label: Label; assets: Assets }
  /** Notes what the server says and asks by itself. */
  heard(message: RpcMessage): void
  /** Passes a request that nobody else answers. */
  otherwise: Handler
}

interface TrackedCall {
  tool: Tool | undefined
  /** Of what it was given. */
  label: Label | null
}

/** Methods whose answers are the words of who made the server, or none. */
const OWN_WORDS = /^(ping|prompts\/list|logging\/setLevel|resources\/(un)?subscribe)$/

/** What a server sends without a word of what it reads. */
const WORDLESS = /^(ping|roots\/list|notifications\/.*list_changed|notifications\/cancelled)$/

/** Begins with a client that was shown nothing. */
export function createTracked(assets: Assets): Tracked {
  const guard = createFlowGuard(assets)
  const asker = createPersonAsker()

  function result({ result }: RpcMessage, { tool, label }: Partial<TrackedCall> = {}) {
    const usual = tool?.openWorld === false && result ? TRUSTED : UNTRUSTED
    const all = stricterByMeta(join(usual, label ?? TRUSTED), result?._meta)
    guard.show(all)
    return { label: all, assets: guard.labelling(all) }
  }

  return {
    ...{ guard, asker, result },
    heard({ method = '', params }) {
      if (WORDLESS.test(method)) return
      const isSilent = method === 'notifications/progress' && Object(params).message === undefined
      if (!isSilent) guard.show(UNTRUSTED)
    },
    async otherwise(request, { ask }) {
      const answer = await ask(request)
      const isOwn = OWN_WORDS.test(request.method ?? '') && isPlainObject(answer.result)
      if (!isOwn) result(answer)
      return answer
    },
  }
}
