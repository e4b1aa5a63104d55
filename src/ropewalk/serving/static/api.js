// What the page asks the server.

import { request } from "./transport.js";

export class Refusal extends Error {}

async function answer(response) {
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try { message = (await response.json()).error.message; } catch { /* no JSON: the status says it */ }
  throw new Refusal(message);
}

export async function get(path) {
  return (await answer(await request(`api/v1/${path}`))).json();
}

async function post(path, fields, signal) {
  const headers = {"content-type": "application/json"};
  return answer(await request(`api/v1/${path}`, {method: "POST", headers, body: JSON.stringify(fields), signal}));
}

export const parse = async (fields, signal) => (await post("parse", {...fields, output: "conllu"}, signal)).text();
export const convert = async (fields, signal) => (await (await post("convert", {...fields, output: "json"}, signal)).json()).sentences;
export const draw = async (fields, signal) => (await (await post("draw", fields, signal)).json()).sentences;
export const search = async (fields, signal) => (await (await post("search", fields, signal)).json()).matches;
export const steps = async (fields, signal) => (await post("steps", fields, signal)).json();
