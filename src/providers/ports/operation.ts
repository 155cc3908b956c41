import type { PortByOperation } from './provider-ports.js';

/** What the gateway sells and providers do. */
export type Operation = keyof PortByOperation;
