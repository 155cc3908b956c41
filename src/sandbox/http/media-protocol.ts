import type { MediaShelf } from '../media/media-shelf.js';
import { type Protocol, WireFault } from './protocol.js';

/** Path below which finished files are served to anyone, as a provider's file host does. */
export const MEDIA_PREFIX = '/media';

/** `GET /media/{name}`: a file of the shelf. */
export function mediaProtocol(shelf: MediaShelf): Protocol {
  return {
    prefix: MEDIA_PREFIX,
    routes: [
      {
        method: 'GET',
        path: '/{name}',
        operation: 'media',
        handle: async (exchange) => {
          const file = shelf.get(exchange.params.name ?? '');
          if (file === undefined) throw new WireFault({ status: 404, message: 'Not Found' });
          await exchange.send(200, { 'content-type': file.contentType }, file.bytes);
        },
      },
    ],
    keyOf: 'open',
    requestIdHeader: 'x-request-id',
    errorBody: ({ message }) => ({ message }),
  };
}
