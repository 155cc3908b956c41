import type { PortByOperation } from './provider-ports.js';

/** The operations that the gateway offers and providers execute. */
export type Operation = keyof PortByOperation;
