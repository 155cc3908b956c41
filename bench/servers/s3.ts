import { startFauxqs } from 'fauxqs';

/** A server that speaks S3, with one bucket; everything lies in its memory. */
const server = await startFauxqs({
  port: Number(process.argv[2]),
  logger: false,
  host: '127.0.0.1',
});
server.createBucket('media');
process.send?.('ready');
