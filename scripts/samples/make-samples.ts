// node --conditions=byref-source scripts/samples/make-samples.ts: makes the sample conversations of the workbench
// again.
import { everyKind } from './every-kind.ts'
import { mail } from './mail.ts'
import { refunds } from './refunds.ts'
import { writeSamples } from './sample.ts'
import { weather } from './weather.ts'

await writeSamples([weather, refunds, mail, everyKind])
