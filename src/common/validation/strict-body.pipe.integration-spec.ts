import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Controller, Logger, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { GatewayError } from '../errors/gateway-error.js';
import { ModelId, Enum, Text } from './fields.js';
import { readModelId } from './parsed-body.js';
import { StrictBody, StrictBodyPipe } from './strict-body.pipe.js';

class SongBody {
  @ModelId() model!: string;
  @Text({ max: 10, description: 'What to sing' }) prompt!: string;
  @Enum(['a', 'b'], { default: 'a' }) version!: string;
}

@Controller()
class SongController {
  @Post('songs')
  create(@StrictBody('invalid_music_request') body: SongBody): string {
    return body.version;
  }
}

@Module({ controllers: [SongController] })
class SongModule {}

describe('StrictBody', () => {
  it('documents the request class with its limits in Swagger', async () => {
    Logger.overrideLogger(false);
    const app = await NestFactory.create(SongModule);
    const { components, paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    await app.close();

    expect(paths['/songs']?.post?.requestBody).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/SongBody' } } },
    });
    expect(components?.schemas?.SongBody).toEqual({
      type: 'object',
      required: ['model', 'prompt'],
      properties: {
        model: { type: 'string', minLength: 1, maxLength: 200, description: expect.any(String) },
        prompt: { type: 'string', minLength: 1, maxLength: 10, description: 'What to sing' },
        version: { type: 'string', enum: ['a', 'b'], default: 'a' },
      },
    });
  });

  it('refuses under the code of the endpoint (CONV-08)', () => {
    const pipe = new StrictBodyPipe(SongBody, 'invalid_music_request');

    expect(() => pipe.transform({ foo: 1 })).toThrow(
      new GatewayError(
        'invalid_music_request',
        'foo is not a field here. The fields are model, prompt, version.',
        { param: 'foo' },
      ),
    );
  });

  it('refuses a parameter type without fields when the class is loaded', () => {
    expect(() => {
      class Broken {
        create(@StrictBody() body: unknown): unknown {
          return body;
        }
      }
      return Broken;
    }).toThrow('Object declares no field');
  });
});

describe('readModelId', () => {
  it('returns the model before the other fields are checked', () => {
    expect(readModelId({ model: 'aud-v4', foo: 1 })).toBe('aud-v4');
  });

  it.each([[{}], [{ model: '' }], [{ model: ' \t' }], [{ model: 5 }], [{ model: null }]])(
    'refuses %j',
    (body) => {
      expect(() => readModelId(body)).toThrow(expect.objectContaining({ param: 'model' }));
    },
  );

  it('refuses what is no object', () => {
    expect(() => readModelId([])).toThrow(expect.objectContaining({ param: null }));
  });
});
