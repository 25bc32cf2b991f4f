export {
  createServer,
  type Listening,
  type ListenOptions,
  type Server,
  type ServerOptions,
} from './create-server.ts'
