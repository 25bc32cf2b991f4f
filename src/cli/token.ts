import { ByrefError } from '../core/errors.ts'
import { signingKey, signToken } from '../server/auth/tokens.ts'
import { role as roles } from '../wire/server-info.ts'
import { DEFAULT_DATA, openFolder } from './data-folder.ts'
import { parseOptions } from './parse-options.ts'
import { signingSecret } from './secret.ts'
import { UsageError } from './usage-error.ts'

/** What `byref token --help` prints. */
export const HELP = `byref token: a token for a server that asks for one (byref serve --auth)

  byref token [--role member] [--namespace TEAM] [--subject NAME] [--expires 30d] [--data ${DEFAULT_DATA}]

  --role       reader (reads), member (also talks, uploads, decides) or owner (also deletes, imports, exports debug data)
  --namespace  whose conversations and assets; without one, those of no namespace
  --subject    who it is, for limits and logs
  --expires    how long it holds: 12h, 30d, 1y
  --data       folder of the server; its secret signs. BYREF_SECRET comes before it

The token is printed on stdout. A server sees no difference between its bearers: treat it as a password.
`

/** `byref token`: prints a token. */
export async function command(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions('token', args, {
    role: { type: 'string', default: 'member' },
    namespace: { type: 'string' },
    subject: { type: 'string', default: 'user' },
    expires: { type: 'string', default: '30d' },
    data: { type: 'string', default: DEFAULT_DATA },
  })
  if (positionals.length > 0) throw new UsageError(`byref token takes no "${positionals[0]}"`)
  const role = roles.safeParse(values.role)
  if (!role.success) {
    throw new UsageError(`--role is reader, member or owner, not "${values.role}"`)
  }
  if (!/^\d+ ?[smhdwy]$/.test(values.expires)) {
    throw new UsageError(`--expires takes a time such as 12h or 30d, not "${values.expires}"`)
  }
  const namespace = values.namespace ?? null
  if (namespace === '') throw new ByrefError('config_invalid', '--namespace must not be empty')
  const key = signingKey(signingSecret(openFolder(values.data)))
  const { subject, expires: expiresIn } = values
  process.stdout.write(
    `${await signToken(key, { subject, namespace, role: role.data, expiresIn })}\n`,
  )
  return 0
}
