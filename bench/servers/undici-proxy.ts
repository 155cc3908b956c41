import { createServer } from 'node:http';
import { Pool } from 'undici';

/** The limit: a proxy of node:http and an undici Pool that does nothing else. */
const pool = new Pool(`http://127.0.0.1:${process.argv[3]}`, { connections: 256 });
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string };
    pool
      .request({
        method: 'POST',
        path: '/v1/text-to-speech/voice?output_format=mp3_44100_128',
        headers: { 'content-type': 'application/json', 'xi-api-key': 'bench' },
        body: JSON.stringify({ text: input, model_id: 'eleven_v4' }),
      })
      .then(
        (answer) => {
          response.writeHead(answer.statusCode, { 'content-type': 'audio/mpeg' });
          answer.body.pipe(response);
        },
        () => response.destroy(),
      );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
