import { WireFault } from '../http/protocol.js';

/** Refuses a request as the vendor does: 400 with a message and the name of the parameter. */
export function refuse(message: string, param?: string): never {
  throw new WireFault({ status: 400, message, ...(param !== undefined && { param }) });
}
