//! A call as a person writes it: `fir(i16[64], 64)`.

use crate::LabError;
use firmware::suggestion;

/// A function and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub function: String,
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `64`, `-1.5`, `0..9`, `?`
    Value(Value),
    /// `i16[64]`, `[4]={1,2,3,4}`, `"text"`
    Array { element: Option<&'static Element>, length: usize, content: Content },
    /// `{1, 2.5}`: the members of a structure.
    Structure(Vec<Value>),
    /// `compare`: something of the program's own.
    Name(String),
}

/// Content of an array before each call; what is not given is 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Each(Value),
    List(Vec<Value>),
}

/// A number, or how one is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Integer(i128),
    Float(f64),
    /// Any of its type, the same on all parts.
    Random,
    /// From one to the other, both among them.
    Between(i128, i128),
}

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub name: &'static str,
    /// Its spelling in C.
    pub c: &'static str,
    /// Bits that it has on every part.
    pub bits: u8,
    pub is_float: bool,
    pub signed: bool,
}

const fn element(name: &'static str, c: &'static str, bits: u8, is_float: bool, signed: bool) -> Element {
    Element { name, c, bits, is_float, signed }
}

/// All of them.
pub static ELEMENTS: [Element; 10] = [
    element("i8", "int8_t", 8, false, true),
    element("u8", "uint8_t", 8, false, false),
    element("i16", "int16_t", 16, false, true),
    element("u16", "uint16_t", 16, false, false),
    element("i32", "int32_t", 32, false, true),
    element("u32", "uint32_t", 32, false, false),
    element("i64", "int64_t", 64, false, true),
    element("u64", "uint64_t", 64, false, false),
    element("f32", "float", 32, true, true),
    element("f64", "double", 64, true, true),
];

/// Elements that an array may have.
const MOST_ELEMENTS: usize = 1 << 16;

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// [`LabError::Usage`] with the place and what may stand there.
    pub fn parse(text: &str) -> Result<Call, LabError> {
        let mut reader = Reader { text, rest: text };
        reader.call().map_err(|problem| {
            let at = text.len() - reader.rest.len();
            let column = text.get(..at).map_or(at, |before| before.chars().count());
            LabError::Usage(format!("--call cannot be read: {problem}\n  {text}\n  {}^", " ".repeat(column)))
        })
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

const WHAT: &str = "an argument is a number (64, -1.5, 0x10), ? for a random one, 0..9 for one of these, an array \
                    ([64], i16[64], [4]={1,2,3,4}, u8[16]=0, \"text\"), the members of a structure ({1, 2}) or a name of the program's";

impl<'t> Reader<'t> {
    fn call(&mut self) -> Result<Call, String> {
        let function = self.path().ok_or("it begins with the function's name: 'fir(i16[64], 64)'")?;
        if !self.take('(') {
            return Err(format!("( stands behind {function}, then the arguments, then )"));
        }
        let mut arguments = Vec::new();
        if !self.take(')') {
            loop {
                arguments.push(self.argument()?);
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err(", or ) stands behind an argument".into());
                }
            }
        }
        self.space();
        match self.rest {
            "" => Ok(Call { function, arguments }),
            _ => Err("the call has ended; one --call is one call".into()),
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, letter: char) -> bool {
        self.space();
        self.rest.strip_prefix(letter).map(|rest| self.rest = rest).is_some()
    }

    fn word(&mut self, is_of_it: impl Fn(char) -> bool) -> &'t str {
        self.space();
        let end = self.rest.find(|letter| !is_of_it(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A name, of C++ with its namespaces.
    fn path(&mut self) -> Option<String> {
        self.space();
        let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        if !self.rest.starts_with(is_first) {
            return None;
        }
        let word = self.word(|letter| letter.is_ascii_alphanumeric() || "_:".contains(letter));
        Some(word.to_owned())
    }

    fn argument(&mut self) -> Result<Argument, String> {
        self.space();
        let before = self.rest;
        match self.rest.chars().next() {
            Some('{') => Ok(Argument::Structure(self.list()?)),
            Some('"') => self.text().map(|bytes| {
                let content = bytes.iter().map(|byte| Value::Integer(i128::from(*byte))).collect::<Vec<_>>();
                Argument::Array { element: None, length: content.len(), content: Content::List(content) }
            }),
            Some('[') => self.array(None),
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let name = self.path().unwrap_or_default();
                if self.rest.trim_start().starts_with('[') {
                    let Some(element) = ELEMENTS.iter().find(|element| element.name == name) else {
                        self.rest = before;
                        let near = suggestion(&name, ELEMENTS.iter().map(|element| element.name));
                        return Err(format!(
                            "there is no type of elements '{name}'{near}; without one, [64], it is the prototype's"
                        ));
                    };
                    return self.array(Some(element));
                }
                Ok(Argument::Name(name))
            }
            _ => self.value().map(Argument::Value),
        }
    }

    fn array(&mut self, element: Option<&'static Element>) -> Result<Argument, String> {
        self.take('[');
        let digits = self.word(|letter| letter.is_ascii_alphanumeric());
        let length = match digits {
            "" => None,
            digits => Some(digits.parse::<usize>().map_err(|_| "a length is a number: i16[64]".to_owned())?),
        };
        if !self.take(']') {
            return Err("] stands behind the length: i16[64]".into());
        }
        let content = match self.take('=') {
            false => Content::Each(Value::Random),
            true => {
                self.space();
                match self.rest.chars().next() {
                    Some('{') => Content::List(self.list()?),
                    Some('"') => {
                        let text = self.text()?;
                        Content::List(text.iter().map(|byte| Value::Integer(i128::from(*byte))).collect())
                    }
                    _ => Content::Each(self.value()?),
                }
            }
        };
        let given = match &content {
            Content::List(list) => list.len(),
            Content::Each(_) => 0,
        };
        let length = length.or((given > 0).then_some(given)).ok_or("an array has a length: i16[64]")?;
        if length == 0 || length > MOST_ELEMENTS {
            return Err(format!("an array has from 1 to {MOST_ELEMENTS} elements"));
        }
        if given > length {
            return Err(format!("{given} values do not fit into {length} elements"));
        }
        Ok(Argument::Array { element, length, content })
    }

    fn list(&mut self) -> Result<Vec<Value>, String> {
        self.take('{');
        let mut values = Vec::new();
        if self.take('}') {
            return Ok(values);
        }
        loop {
            values.push(self.value()?);
            if self.take('}') {
                return Ok(values);
            }
            if !self.take(',') {
                return Err(", or } stands behind a value".into());
            }
        }
    }

    /// A text in quotes with the 0 behind it.
    fn text(&mut self) -> Result<Vec<u8>, String> {
        self.take('"');
        let end = self.rest.find('"').ok_or("a text ends with \"")?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Ok(text.bytes().chain([0]).collect())
    }

    fn value(&mut self) -> Result<Value, String> {
        if self.take('?') {
            return Ok(Value::Random);
        }
        let first = self.number()?;
        match (first, self.rest.starts_with("..")) {
            (value, false) => Ok(value),
            (Value::Integer(from), true) => {
                self.rest = &self.rest[2..];
                match self.number()? {
                    Value::Integer(to) if to >= from => Ok(Value::Between(from, to)),
                    _ => Err("a range goes from a whole number up to another: 0..9".into()),
                }
            }
            _ => Err("a range is of whole numbers: 0..9".into()),
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        self.space();
        let before = self.rest;
        let negative = self.take('-');
        let mut word = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '.');
        // The two dots of a range are none of a number's.
        if let Some(dots) = word.find("..") {
            self.rest = &self.text[self.text.len() - self.rest.len() - (word.len() - dots)..];
            word = &word[..dots];
        }
        let is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
        if word.ends_with(['e', 'E']) && !is_hexadecimal && self.rest.starts_with(['-', '+']) {
            let start = self.text.len() - self.rest.len() - word.len();
            self.rest = &self.rest[1..];
            self.word(|letter| letter.is_ascii_digit());
            word = &self.text[start..self.text.len() - self.rest.len()];
        }
        let integer = match is_hexadecimal {
            true => i128::from_str_radix(&word[2..], 16).ok(),
            false => word.parse::<i128>().ok(),
        };
        let sign = if negative { -1 } else { 1 };
        if let Some(integer) = integer.filter(|integer| integer.unsigned_abs() <= u128::from(u64::MAX)) {
            return Ok(Value::Integer(i128::from(sign) * integer));
        }
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
        match word.parse::<f64>().ok().filter(|float| is_number && float.is_finite()) {
            Some(float) => Ok(Value::Float(f64::from(sign) * float)),
            None => {
                self.rest = before;
                Err(WHAT.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn arguments(text: &str) -> Vec<Argument> {
        Call::parse(&format!("f({text})")).expect(text).arguments
    }

    fn refused(text: &str) -> String {
        Call::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn an_argument_of_each_kind_is_read() {
        let array = |element: Option<usize>, length, content| Argument::Array {
            element: element.map(|index| &ELEMENTS[index]),
            length,
            content,
        };
        let numbers =
            |list: &[i128]| Content::List(list.iter().map(|number| Value::Integer(*number)).collect());
        for (text, expected) in [
            ("64", Argument::Value(Value::Integer(64))),
            ("-0x10", Argument::Value(Value::Integer(-16))),
            ("0xffffffffffffffff", Argument::Value(Value::Integer(i128::from(u64::MAX)))),
            ("-1.5", Argument::Value(Value::Float(-1.5))),
            ("2e-3", Argument::Value(Value::Float(0.002))),
            (" 0 .. 9 ".replace(' ', "").as_str(), Argument::Value(Value::Between(0, 9))),
            ("?", Argument::Value(Value::Random)),
            ("i16[64]", array(Some(2), 64, Content::Each(Value::Random))),
            ("[64]", array(None, 64, Content::Each(Value::Random))),
            ("u8[16]=0", array(Some(1), 16, Content::Each(Value::Integer(0)))),
            ("u8[16]=-2..0x7", array(Some(1), 16, Content::Each(Value::Between(-2, 7)))),
            ("[4] = {1, 2}", array(None, 4, numbers(&[1, 2]))),
            ("[]={1,2,3}", array(None, 3, numbers(&[1, 2, 3]))),
            ("\"ab\"", array(None, 3, numbers(&[97, 98, 0]))),
            ("u8[8]=\"ab\"", array(Some(1), 8, numbers(&[97, 98, 0]))),
            ("{1, 2.5}", Argument::Structure(vec![Value::Integer(1), Value::Float(2.5)])),
            ("compare", Argument::Name("compare".into())),
        ] {
            assert_eq!(arguments(text), [expected], "{text}");
        }
        assert_eq!(arguments("").len(), 0);
        assert_eq!(arguments("[2], 2,?").len(), 3);
        assert_eq!(Call::parse(" dsp::fir ( ) ").expect("C++").function, "dsp::fir");
    }

    #[test]
    fn a_slip_is_pointed_at() {
        let said = refused("fir(i17[64], 64)");
        assert!(said.contains("no type of elements 'i17'; did you mean i16"), "{said}");
        assert!(said.ends_with("\n  fir(i17[64], 64)\n      ^"), "{said}");
        for (text, part) in [
            ("", "begins with the function's name"),
            ("fir", "( stands behind fir"),
            ("fir(", "an argument is a number"),
            ("fir(1", ", or ) stands behind"),
            ("fir(1))", "the call has ended"),
            ("fir([])", "an array has a length"),
            ("fir([0])", "from 1 to"),
            ("fir([2]={1,2,3})", "3 values do not fit"),
            ("fir(9..0)", "from a whole number up"),
            ("fir(1.5..2)", "whole numbers"),
            ("fir(12ab)", "an argument is a number"),
            ("fir(\"ab)", "a text ends with"),
            ("fir(é)", "an argument is a number"),
        ] {
            assert!(refused(text).contains(part), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn any_text_is_read_without_panic() {
        let mut rng = StdRng::seed_from_u64(46);
        let letters: Vec<char> = "fi(16)[]{}=,.?\"-0x9e+ aé:".chars().collect();
        for _ in 0..20_000 {
            let length = rng.random_range(0..24);
            let text: String = (0..length).map(|_| letters[rng.random_range(0..letters.len())]).collect();
            let _ = Call::parse(&text);
            let _ = Call::parse(&format!("f({text})"));
        }
    }
}
