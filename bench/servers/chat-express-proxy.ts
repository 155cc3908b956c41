import axios from 'axios';
import express from 'express';
import { Agent } from 'node:http';

/** A bare pass-through proxy of the usual parts: Express, its JSON parser, axios with keep-alive. */
const upstream = `http://127.0.0.1:${process.argv[3]}/v1/chat/completions`;
const httpAgent = new Agent({ keepAlive: true, maxSockets: 256 });
const app = express();
app.use(express.json());
app.post('/v1/chat/completions', async (request, response) => {
  const answer = await axios.post<object>(upstream, request.body, {
    httpAgent,
    headers: { authorization: 'Bearer bench' },
  });
  response.json(answer.data);
});
app.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
