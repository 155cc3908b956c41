import axios from 'axios';
import express from 'express';
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';

/** A bare pass-through proxy of the usual parts: Express, its JSON parser, axios with keep-alive. */
const upstream = `http://127.0.0.1:${process.argv[3]}/v1/text-to-speech/voice?output_format=mp3_44100_128`;
const httpAgent = new Agent({ keepAlive: true, maxSockets: 256 });
const app = express();
app.use(express.json());
app.post('/v1/audio/speech', async (request, response) => {
  const { input } = request.body as { input: string };
  const answer = await axios.post<Readable>(
    upstream,
    { text: input, model_id: 'eleven_v4' },
    {
      httpAgent,
      responseType: 'stream',
      headers: { 'xi-api-key': 'bench' },
    },
  );
  response.setHeader('Content-Type', 'audio/mpeg');
  answer.data.pipe(response);
});
app.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
