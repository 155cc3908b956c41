import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './document-bodies.js';

/** What an id in a path names. */
interface PathId {
  readonly path: RegExp;
  readonly name: string;
  readonly description: string;
  /** A public id as it looks; of nothing that exists. */
  readonly example: string;
}

const HEX = '0193a5e2f0c47b1d8e6f5a4b3c2d1e0f';

/** The first row that fits a path and the name of its parameter tells what the parameter names. */
const PATH_IDS: readonly PathId[] = [
  {
    path: /^\/admin\/providers\//,
    name: 'provider',
    description: 'The provider by its id, such as `openai`',
    example: 'openai',
  },
  {
    path: /^\/admin\/providers\//,
    name: 'route',
    description: 'The name of the model at the provider; a slash in it is written %2F',
    example: 'gpt-5',
  },
  {
    path: /./,
    name: 'delivery_id',
    description: 'The delivery, such as `whd_…`: see `GET /v1/tasks/{id}/deliveries`',
    example: `whd_${HEX}`,
  },
  {
    path: /./,
    name: 'endpoint_id',
    description: 'The endpoint, such as `whe_…`',
    example: `whe_${HEX}`,
  },
  {
    path: /\/statements\//,
    name: 'month',
    description: 'A month of UTC, such as `2026-11`',
    example: '2026-01',
  },
  {
    path: /^\/admin\/accounts\//,
    name: 'id',
    description: 'The account, such as `acct_…`',
    example: `acct_${HEX}`,
  },
  {
    path: /^\/admin\/price-books\//,
    name: 'id',
    description: 'The price book by its id, a name of your own such as `partners`',
    example: 'partners',
  },
  {
    path: /^\/(admin|v1)\/keys\//,
    name: 'id',
    description: 'The key by its id, such as `key_…`; not its text',
    example: `key_${HEX}`,
  },
  {
    path: /\/executions\//,
    name: 'id',
    description: 'The call: the value of its `x-gateway-execution-id`, such as `exec_…`',
    example: `exec_${HEX}`,
  },
  {
    path: /^\/v1\/webhook-endpoints\//,
    name: 'id',
    description: 'The endpoint, such as `whe_…`',
    example: `whe_${HEX}`,
  },
  {
    path: /^\/admin\/sessions\//,
    name: 'id',
    description: 'The session, such as `ses_…`',
    example: `ses_${HEX}`,
  },
  {
    path: /^\/(admin|v1)\/webhook-deliveries\//,
    name: 'id',
    description: 'The delivery, such as `whd_…`',
    example: `whd_${HEX}`,
  },
  {
    path: /\/tasks\//,
    name: 'id',
    description: 'The task, such as `task_…`, as its submission answered it',
    example: `task_${HEX}`,
  },
  {
    path: /\/videos\//,
    name: 'id',
    description: 'The video, such as `task_…`, as `POST /v1/videos` answered it',
    example: `task_${HEX}`,
  },
  {
    path: /\/responses\//,
    name: 'id',
    description: 'The response, such as `resp_…`',
    example: `resp_${HEX}`,
  },
  {
    path: /\/models\//,
    name: 'id',
    description: 'The model by its id, as `GET /v1/models` lists it',
    example: 'aud-v4',
  },
  {
    path: /\/runs\//,
    name: 'id',
    description: 'The run: the text of `x-gateway-run`, encoded for a URL',
    example: 'build-42',
  },
];

/** What a parameter of a path names. Throws for one that is not told above. */
export function pathIdOf(path: string, name: string): PathId {
  const found = PATH_IDS.find((row) => row.name === name && row.path.test(path));
  if (!found) throw new Error(`${path}: nothing tells what ${name} is`);
  return found;
}

/** Says of each parameter of a path what it names. */
export function describePathIds(document: OpenAPIObject): void {
  for (const [path, item] of Object.entries(document.paths))
    for (const { parameters = [] } of operationsOf({ ...document, paths: { [path]: item } }))
      for (const parameter of parameters)
        if ('in' in parameter && parameter.in === 'path')
          parameter.description = pathIdOf(path, parameter.name).description;
}
