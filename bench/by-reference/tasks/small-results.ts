import { z } from 'zod'
import type { BenchTool, Task, Way } from '../play.ts'

const tools: BenchTool[] = [
  {
    id: 'get_weather',
    description: 'The weather in a city now',
    input: z.object({ city: z.string(), unit: z.enum(['celsius', 'fahrenheit']) }),
    execute: ({ city }: { city: string }) => ({
      city,
      temperature: city.length + 10,
      sky: 'clear',
      wind_kmh: 12,
    }),
  },
  {
    id: 'get_time',
    description: 'The local time in a city',
    input: z.object({ city: z.string() }),
    execute: ({ city }: { city: string }) => ({ city, time: '14:05', offset: city.length % 12 }),
  },
]
const CITIES = [
  'Lisbon',
  'Oslo',
  'Kyoto',
  'Quito',
  'Accra',
  'Lima',
  'Perth',
  'Turin',
  'Osaka',
  'Cork',
  'Ghent',
  'Bern',
]
const way: Way = {
  tools,
  instructions:
    'You are a travel assistant. Look up what you are asked, one city after the other, and answer in short sentences.',
  says: [
    {
      role: 'user',
      content: `Where is it warmest now, and what time is it there: ${CITIES.join(', ')}?`,
    },
  ],
  answers: [
    ...CITIES.map((city) => ({
      text: `Let me look at ${city}.`,
      calls: [
        { name: 'get_weather', arguments: { city, unit: 'celsius' } },
        { name: 'get_time', arguments: { city } },
      ],
    })),
    'It is warmest in Lisbon with 16 °C; it is 14:05 there.',
  ],
}

/** Results that are shorter than a reference to them. References save nothing. */
export const smallResults: Task = {
  name: 'many small results',
  about: '24 results of 80 characters in twelve steps',
  byref: () => way,
  value: () => way,
}
