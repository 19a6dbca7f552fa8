/** The OpenAPI webhooks: the requests that the service sends for events. */
import type { EventType } from './event.ts';
import { toExample } from './examples.ts';
import type { NamedSchemas, Schema } from './json-schema.ts';
import { id, timestamp } from './shapes.ts';

/** Returns the webhooks of subscribable events. The webhooks and their example bodies go by the name of the event. */
export function toWebhooks(
  events: readonly EventType[],
  schemas: NamedSchemas,
  examples: Readonly<Record<string, unknown>>,
): Record<string, Schema> {
  return Object.fromEntries(
    events
      .filter(({ subscribable }) => subscribable)
      .map((event) => [event.name, toWebhook(event, schemas, examples[event.name])]),
  );
}

function toWebhook({ name, description, data }: EventType, schemas: NamedSchemas, example: unknown): Schema {
  const title = name.replaceAll(/(?:^|[._])(\w)/g, (_, letter) => letter.toUpperCase());
  const properties = {
    id: schemas.convert(id.meta({ description: 'Id of the event; the same for every attempt' }), 'output'),
    event_type: { type: 'string', const: name },
    timestamp: schemas.convert(timestamp, 'output'),
    organization_id: schemas.convert(id, 'output'),
    data: schemas.convert(data, 'output'),
  };
  const schema = schemas.add(`${title}Event`, {
    type: 'object',
    description,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
  return {
    post: {
      operationId: `on${title}`,
      tags: ['Webhooks'],
      summary: description,
      description:
        'The service sends this request to every active webhook that subscribes to the event. Check its signature before you use it.',
      requestBody: { required: true, content: { 'application/json': { schema, ...toExample(example) } } },
      responses: {
        '2XX': {
          description:
            'Received. After any other response, the service sends the request again: at most three times in all.',
        },
      },
    },
  };
}
