//! Variables that the host and the program exchange: a call's arguments and what it gives, member
//! by member.

use super::arguments::{Argument, Call, Content, Element, Value};
use crate::LabError;
use firmware::c_types::{Signature, Type};
use std::fmt::Write as _;

/// A number as a part keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Integer {
        /// Bytes on the host.
        bytes: u8,
        signed: bool,
        /// Bits that are drawn.
        bits: u8,
    },
    Float {
        /// Bytes on the host.
        bytes: u8,
    },
}

impl Scalar {
    pub(super) fn host_bytes(self) -> usize {
        match self {
            Scalar::Integer { bytes, .. } | Scalar::Float { bytes } => usize::from(bytes),
        }
    }
}

/// A variable of one or more numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    /// Its name in the program.
    pub symbol: String,
    /// Its address in C.
    pub place: String,
    /// Its name for a person.
    pub label: String,
    pub spelled: String,
    pub scalar: Scalar,
    pub count: usize,
    /// Content before each call; none of what is an output only.
    pub content: Option<Content>,
    /// Compared after each call.
    pub is_output: bool,
    /// It has guards around it.
    pub is_guarded: bool,
}

impl Slot {
    /// Returns true if some of its content is drawn.
    pub(super) fn is_drawn(&self) -> bool {
        let is_drawn = |value: &Value| matches!(value, Value::Random | Value::Between(..));
        self.content.as_ref().is_some_and(|content| values(content).iter().any(is_drawn))
    }
}

/// An array of structures, with guards around it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guarded {
    pub symbol: String,
    pub label: String,
    pub spelled: String,
    pub count: usize,
}

/// A call in C.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub slots: Vec<Slot>,
    pub structures: Vec<Guarded>,
    /// Declarations of further variables.
    pub declarations: String,
    /// Statements before the call, and behind it.
    pub before: String,
    pub after: String,
    /// The call itself, with where its result goes.
    pub statement: String,
    /// Parts of the outputs that are not compared, for a person.
    pub not_compared: Vec<String>,
}

impl Plan {
    /// Fits a call to the function's types.
    ///
    /// # Errors
    /// [`LabError::Usage`] where the arguments are none of its.
    pub(super) fn new(call: &Call, signature: &Signature) -> Result<Plan, LabError> {
        let (given, taken) = (call.arguments.len(), signature.parameters.len());
        if given != taken {
            let types: Vec<String> = signature.parameters.iter().map(spelled).collect();
            let arguments = if taken == 1 { "argument" } else { "arguments" };
            return Err(LabError::Usage(format!(
                "{} takes {taken} {arguments} ({}), and the call has {given}",
                call.function,
                types.join(", ")
            )));
        }
        let mut plan = Plan::default();
        let mut passed = Vec::new();
        for (index, argument) in call.arguments.iter().enumerate() {
            let name = &signature.names[index];
            let label = match name.as_str() {
                "" => format!("argument {}", index + 1),
                name => format!("argument {} ({name})", index + 1),
            };
            let kind = &signature.parameters[index];
            let added = plan.argument(index, &label, kind, argument);
            passed.push(added.map_err(|problem| LabError::Usage(format!("{label}: {problem}")))?);
        }
        let called = format!("ws_call_target({})", passed.join(", "));
        plan.statement = plan.result(signature.result.as_ref(), &called);
        Ok(plan)
    }

    /// Adds an argument; what is passed for it.
    fn argument(
        &mut self,
        index: usize,
        label: &str,
        kind: &Type,
        argument: &Argument,
    ) -> Result<String, String> {
        let symbol = format!("ws_bench_a{index}");
        match (kind, argument) {
            (_, Argument::Name(name)) => Ok(name.clone()),
            (Type::Pointer { to, is_reference }, Argument::Array { element, length, content }) => {
                let array = Array { symbol: &symbol, label, length: *length, content };
                self.array(array, to.as_deref(), *element)?;
                Ok(if *is_reference { format!("{symbol}.a[0]") } else { format!("{symbol}.a") })
            }
            (Type::Pointer { is_reference: false, .. }, Argument::Value(Value::Integer(0))) => Ok("0".into()),
            (Type::Structure { spelled, .. }, Argument::Structure(values)) => {
                let _ = writeln!(self.declarations, "{spelled} {symbol};");
                self.members(&symbol, label, kind, 1, Some(&Content::List(values.clone())), false)?;
                Ok(symbol)
            }
            (Type::Structure { spelled, .. }, Argument::Value(value)) => {
                let _ = writeln!(self.declarations, "{spelled} {symbol};");
                self.members(&symbol, label, kind, 1, Some(&Content::Each(*value)), false)?;
                Ok(symbol)
            }
            (Type::Integer { .. } | Type::Float { .. }, Argument::Value(value)) => {
                let (spelled, scalar) = scalar(kind).ok_or("it is no number")?;
                check(&[*value], scalar, &spelled)?;
                self.slots.push(Slot {
                    place: format!("&{symbol}"),
                    label: label.into(),
                    content: Some(Content::Each(*value)),
                    is_output: false,
                    is_guarded: false,
                    count: 1,
                    spelled,
                    scalar,
                    symbol: symbol.clone(),
                });
                Ok(symbol)
            }
            (kind, _) => Err(format!("it is {}; {}", spelled(kind), wanted(kind))),
        }
    }

    fn array(
        &mut self,
        array: Array<'_>,
        to: Option<&Type>,
        element: Option<&Element>,
    ) -> Result<(), String> {
        let Array { symbol, label, length, content } = array;
        let (spelled, scalar) = match (to, element) {
            (None, Some(element)) => (element.c.to_owned(), of_element(element)),
            (None, None) => return Err("it is void *; write the type of its elements, such as u8[64]".into()),
            (Some(kind @ Type::Structure { spelled, .. }), None) => {
                self.structures.push(Guarded {
                    symbol: symbol.into(),
                    label: label.into(),
                    spelled: spelled.clone(),
                    count: length,
                });
                return self.members(symbol, label, kind, length, Some(content), true);
            }
            (Some(kind), element) => {
                let (spelled, mut scalar) = scalar(kind).ok_or_else(|| {
                    format!(
                        "it points to {}; write a function that makes this of numbers, and call that",
                        self::spelled(kind)
                    )
                })?;
                if let Some(element) = element {
                    scalar = fitted(scalar, element).ok_or_else(|| {
                        format!(
                            "its elements are {spelled} and not {}; [{length}] takes the prototype's",
                            element.name
                        )
                    })?;
                }
                (spelled, scalar)
            }
        };
        check(values(content), scalar, &spelled)?;
        self.slots.push(Slot {
            place: format!("{symbol}.a"),
            symbol: symbol.into(),
            label: label.into(),
            spelled,
            scalar,
            count: length,
            content: Some(content.clone()),
            is_output: true,
            is_guarded: true,
        });
        Ok(())
    }

    /// Adds a slot for each member of `count` structures, and the statements that copy them.
    fn members(
        &mut self,
        symbol: &str,
        label: &str,
        kind: &Type,
        count: usize,
        content: Option<&Content>,
        is_array: bool,
    ) -> Result<(), String> {
        let mut members = Vec::new();
        let mut is_partial = false;
        flatten(kind, &mut Vec::new(), &mut members, &mut is_partial);
        if is_partial {
            self.not_compared.push(format!("{label}: members that are unions, addresses or have no name"));
        }
        let given = content.map(|content| values(content).len()).unwrap_or(0);
        let total: usize = members.iter().map(|member| member.count).sum::<usize>() * count;
        if matches!(content, Some(Content::List(_))) && given > total {
            return Err(format!("{given} values do not fit into {total} members"));
        }
        let mut first = 0;
        for (number, member) in members.iter().enumerate() {
            let slot = format!("{symbol}_{number}");
            let all = member.count * count;
            // The values of a list come structure by structure.
            let content = content.map(|content| match content {
                Content::Each(value) => Content::Each(*value),
                Content::List(list) => {
                    let of_one = total / count;
                    let places =
                        (0..count).flat_map(|one| (0..member.count).map(move |at| one * of_one + first + at));
                    let value = |place| list.get(place).copied().unwrap_or(Value::Integer(0));
                    Content::List(places.map(value).collect())
                }
            });
            if let Some(content) = &content {
                check(values(content), member.scalar, &member.spelled)?;
            }
            first += member.count;
            let within = if is_array { format!("{symbol}.a[i0]") } else { symbol.to_owned() };
            let copied = copy(member, &within, &slot, count);
            if content.is_some() {
                self.before += &copied(true);
            }
            let is_output = is_array || content.is_none();
            if is_output {
                self.after += &copied(false);
            }
            self.slots.push(Slot {
                place: slot.clone(),
                symbol: slot,
                label: format!("{label}{}", member.path_text()),
                spelled: member.spelled.clone(),
                scalar: member.scalar,
                count: all,
                content,
                is_output,
                is_guarded: false,
            });
        }
        Ok(())
    }

    /// Adds the result; the statement of the call.
    fn result(&mut self, kind: Option<&Type>, called: &str) -> String {
        let symbol = "ws_bench_r";
        let label = "the result";
        match kind {
            None => format!("{called};"),
            Some(Type::Pointer { .. }) => {
                self.not_compared.push("the result, which is an address".into());
                format!("(void){called};")
            }
            Some(kind @ Type::Structure { spelled, .. }) => {
                let _ = writeln!(self.declarations, "{spelled} {symbol};");
                // Without content nothing is refused.
                let _ = self.members(symbol, label, kind, 1, None, false);
                format!("{symbol} = {called};")
            }
            Some(kind) => match scalar(kind) {
                Some((spelled, scalar)) => {
                    self.slots.push(Slot {
                        symbol: symbol.into(),
                        place: format!("&{symbol}"),
                        label: label.into(),
                        spelled,
                        scalar,
                        count: 1,
                        content: None,
                        is_output: true,
                        is_guarded: false,
                    });
                    format!("{symbol} = {called};")
                }
                None => {
                    self.not_compared.push(format!("the result, a {}", self::spelled(kind)));
                    format!("(void){called};")
                }
            },
        }
    }
}

struct Array<'a> {
    symbol: &'a str,
    label: &'a str,
    length: usize,
    content: &'a Content,
}

/// A step from a structure to a number in it.
#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Elements(usize),
}

struct Member {
    path: Vec<Step>,
    spelled: String,
    scalar: Scalar,
    count: usize,
}

impl Member {
    fn path_text(&self) -> String {
        let text = |step: &Step| match step {
            Step::Member(name) => format!(".{name}"),
            Step::Elements(_) => "[]".into(),
        };
        self.path.iter().map(text).collect()
    }
}

/// Statements that copy a member of structures to its slot, or from there.
fn copy(member: &Member, within: &str, slot: &str, count: usize) -> impl Fn(bool) -> String + use<> {
    let mut place = within.to_owned();
    let mut loops = vec![count];
    for step in &member.path {
        match step {
            Step::Member(name) => place += &format!(".{name}"),
            Step::Elements(elements) => {
                place += &format!("[i{}]", loops.len());
                loops.push(*elements);
            }
        }
    }
    let index =
        (1..loops.len()).fold("i0".to_owned(), |index, at| format!("({index}) * {} + i{at}", loops[at]));
    let heads: String =
        (0..loops.len()).map(|at| format!("for (i{at} = 0; i{at} < {}; i{at}++) ", loops[at])).collect();
    let slot = format!("{slot}[{index}]");
    move |is_in| match is_in {
        true => format!("    {heads}{place} = {slot};\n"),
        false => format!("    {heads}{slot} = {place};\n"),
    }
}

/// Steps to each number in a structure.
fn flatten(kind: &Type, path: &mut Vec<Step>, members: &mut Vec<Member>, is_partial: &mut bool) {
    match kind {
        Type::Structure { members: of, is_partial: partial, .. } => {
            *is_partial |= partial;
            for (name, kind) in of {
                path.push(Step::Member(name.clone()));
                flatten(kind, path, members, is_partial);
                path.pop();
            }
        }
        Type::Array { of, count } => {
            path.push(Step::Elements(*count));
            flatten(of, path, members, is_partial);
            path.pop();
        }
        kind => match scalar(kind) {
            Some((spelled, scalar)) => {
                let elements = |step: &Step| if let Step::Elements(count) = step { *count } else { 1 };
                let count = path.iter().map(elements).product();
                members.push(Member { path: path.clone(), spelled, scalar, count });
            }
            None => *is_partial = true,
        },
    }
}

/// Levels of loops that [`copy`] needs at most: the structures, and eight arrays in each other.
pub(super) const LOOPS: usize = 9;

fn scalar(kind: &Type) -> Option<(String, Scalar)> {
    match kind {
        Type::Integer { spelled, bytes, signed, portable_bits } => {
            Some((spelled.clone(), Scalar::Integer { bytes: *bytes, signed: *signed, bits: *portable_bits }))
        }
        Type::Float { spelled, bytes } => Some((spelled.clone(), Scalar::Float { bytes: *bytes })),
        _ => None,
    }
}

fn of_element(element: &Element) -> Scalar {
    let bytes = element.bits / 8;
    match element.is_float {
        true => Scalar::Float { bytes },
        false => Scalar::Integer { bytes, signed: element.signed, bits: element.bits },
    }
}

/// A type of the prototype's where an element is written; none where they differ.
fn fitted(scalar: Scalar, element: &Element) -> Option<Scalar> {
    match scalar {
        Scalar::Float { bytes } => (element.is_float && bytes * 8 == element.bits).then_some(scalar),
        Scalar::Integer { bytes, signed, bits } => {
            let is_char = bits == 7;
            let same =
                !element.is_float && bytes * 8 == element.bits && (is_char || signed == element.signed);
            // An int has other sizes on other parts.
            let is_fixed = is_char || bits == element.bits;
            (same && is_fixed).then_some(Scalar::Integer {
                bytes,
                signed: element.signed,
                bits: element.bits,
            })
        }
    }
}

fn values(content: &Content) -> &[Value] {
    match content {
        Content::Each(value) => std::slice::from_ref(value),
        Content::List(list) => list,
    }
}

/// Checks that values are of a type.
fn check(values: &[Value], scalar: Scalar, spelled: &str) -> Result<(), String> {
    let Scalar::Integer { bytes, signed, .. } = scalar else { return Ok(()) };
    let bits = 8 * u32::from(bytes);
    let (least, most) = if signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    // What is written for unsigned bytes is taken for characters, too.
    let most = if bits == 8 { 255 } else { most };
    for value in values {
        let ends = match value {
            Value::Integer(number) => [*number, *number],
            Value::Between(from, to) => [*from, *to],
            Value::Random => continue,
            Value::Float(number) => return Err(format!("{number} is no {spelled}, which is a whole number")),
        };
        if ends[0] < least || ends[1] > most {
            let wrong = if ends[0] < least { ends[0] } else { ends[1] };
            return Err(format!("{wrong} is no {spelled}: that is {least} to {most}"));
        }
    }
    Ok(())
}

/// A type in the words of C.
fn spelled(kind: &Type) -> String {
    match kind {
        Type::Integer { spelled, .. } | Type::Float { spelled, .. } | Type::Structure { spelled, .. } => {
            spelled.clone()
        }
        Type::Pointer { to, is_reference } => {
            let mark = if *is_reference { "&" } else { "*" };
            format!("{} {mark}", to.as_deref().map_or("void".into(), spelled))
        }
        Type::Array { of, count } => format!("{}[{count}]", spelled(of)),
        Type::Other(what) => what.clone(),
    }
}

/// Advice on the argument for a type.
fn wanted(kind: &Type) -> &'static str {
    match kind {
        Type::Pointer { .. } => "give an array, such as [64], or a name of the program's",
        Type::Structure { .. } => "give its members, such as {1, 2}",
        Type::Integer { .. } | Type::Float { .. } => "give a number, or ? for a random one",
        Type::Array { .. } | Type::Other(_) => "give a name of the program's",
    }
}
