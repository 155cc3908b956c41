import { startLongProvider } from '../../test/faults/slow-sockets.js';

/** The provider of the slow readers, in a process of its own. */
await startLongProvider(Number(process.argv[2]));
process.send?.('ready');
