import type { EvalTask } from '../eval-task.ts'
import { CONNECT_TASKS } from './connect-tasks.ts'
import { PASS_TASKS } from './pass-tasks.ts'
import { READ_TASKS } from './read-tasks.ts'
import { RECOVER_TASKS } from './recover-tasks.ts'
import { RESTRAIN_TASKS } from './restrain-tasks.ts'
import { TRUST_TASKS } from './trust-tasks.ts'

/** All tasks of the evaluation. */
export const EVAL_TASKS: readonly EvalTask[] = [
  ...PASS_TASKS,
  ...CONNECT_TASKS,
  ...READ_TASKS,
  ...RECOVER_TASKS,
  ...RESTRAIN_TASKS,
  ...TRUST_TASKS,
]
