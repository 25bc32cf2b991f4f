import { ByrefError } from '../errors.ts'

/** A variable without a value. `message` is written for a model: what is there, and where to look instead. */
export class VariableError extends ByrefError {
  constructor(message: string) {
    super('variable_not_found', message)
  }
}
