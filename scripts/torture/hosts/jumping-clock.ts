// Loaded before a process: sets its clock back and forth by three hours, again and again, as if somebody changed the
// clock of the host.
const RealDate = Date
const HOURS = 3 * 3_600_000
let offset = HOURS

setInterval(() => {
  offset = -offset
}, 700).unref()

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + offset)
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + offset
  }
} as DateConstructor
