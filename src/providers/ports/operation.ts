import type { PortByOperation } from './provider-ports.js';

/** What the gateway sells and a provider can be asked to do. */
export type Operation = keyof PortByOperation;
