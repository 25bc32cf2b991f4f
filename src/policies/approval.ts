import type { Policy } from './policy.ts'

/** Asks a person before a call of a tool with `needsApproval`, with the arguments that would run. */
export const approvalPolicy: Policy = {
  looksAt: ({ needsApproval }) => Boolean(needsApproval),
  async before({ tool, items, isResumed, withInput }) {
    const { needsApproval } = tool
    if (!needsApproval || isResumed) return undefined
    // Input that the tool would reject fails the call before anybody is asked.
    const wanted = await Promise.all(
      items.map((item) =>
        withInput(item, (input, context) =>
          typeof needsApproval === 'function' ? needsApproval(input, context) : true,
        ),
      ),
    )
    return wanted.includes(true) ? { decision: 'ask' } : undefined
  },
}
