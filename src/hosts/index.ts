export { createQueue, type HostQueue, type HostQueueOptions } from './queue.ts'
export { createWorker, type Worker, type WorkerOptions } from './worker.ts'
