// Whether src/api.ts says of the API what the collector says of itself.

import { expect } from 'vitest';
import ts from 'typescript';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

/** Interfaces of api.ts by the schemas of the description. */
const PAIRS: Record<string, string> = {
  Session: 'Session',
  Meter: 'Meter',
  Alert: 'Alert',
  Command: 'Command',
  Answer: 'Answered',
  Cost: 'Cost',
  Token: 'Token',
  NewToken: 'MadeToken',
  Action: 'Action',
  Consumption: 'Consumption',
};

type Shape = Record<string, string>;

/** Every field's kinds, in order: `null number`. What is deeper is compared with its own pair. */
function ours(): Record<string, Shape> {
  const file = new URL('../../src/api.ts', import.meta.url).pathname;
  const program = ts.createProgram([file], { strict: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  if (source === undefined) throw new Error(`no ${file}`);
  const kind = (type: ts.Type): string => {
    if (type.isUnion()) return [...new Set(type.types.map(kind))].sort().join(' ');
    if (type.flags & ts.TypeFlags.StringLike) return 'string';
    if (type.flags & ts.TypeFlags.NumberLike) return 'number';
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
    if (type.flags & ts.TypeFlags.Null) return 'null';
    return checker.isArrayType(type) ? 'array' : 'object';
  };
  const shapes: Record<string, Shape> = {};
  ts.forEachChild(source, (node) => {
    if (!ts.isInterfaceDeclaration(node)) return;
    const shape: Shape = {};
    for (const field of checker.getTypeAtLocation(node).getProperties()) {
      shape[field.name] = kind(checker.getTypeOfSymbolAtLocation(field, node));
    }
    shapes[node.name.text] = shape;
  });
  return shapes;
}

function theirs(schemas: Record<string, Schema>, name: string): Shape {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const kinds = (schema: Schema): string[] => {
    const whole = resolve(schema);
    const some = whole.oneOf ?? whole.anyOf;
    if (some !== undefined) return some.flatMap(kinds);
    const types = whole.type === undefined ? ['object'] : [whole.type].flat();
    return types.map((type) => (type === 'integer' ? 'number' : type));
  };
  const shape: Shape = {};
  const collect = (schema: Schema): void => {
    const whole = resolve(schema);
    whole.allOf?.forEach(collect);
    for (const [field, one] of Object.entries(whole.properties ?? {})) {
      shape[field] = [...new Set(kinds(one))].sort().join(' ');
    }
  };
  if (schemas[name] === undefined) throw new Error(`the description has no ${name}; it has ${Object.keys(schemas).join(', ')}`);
  collect(schemas[name]);
  return shape;
}

/** Compares them with the collector's own description. */
export async function compareTypes(collector: string): Promise<void> {
  const description = (await (await fetch(`${collector}/api/v1/openapi.json`)).json()) as {
    components: { schemas: Record<string, Schema> };
  };
  const { schemas } = description.components;
  const mine = ours();
  for (const [own, name] of Object.entries(PAIRS)) {
    expect({ [own]: mine[own] }).toEqual({ [own]: theirs(schemas, name) });
  }
}
